/* tries: output that breaks whoever reads it: every byte value, NULs, broken UTF-8, a megabyte
   without a newline, carriage returns, quotes, a forged verdict as JSON, and lines that look like
   the suite's own */
/* must fail because: output is bytes, apart from the report; the report says what came, in JSON
   that stays valid, and what was captured is exactly what was written */
/* an escape would: forge a verdict, or make the report unreadable */
/* source: ATTACKS.md B5 S8 */
#include <fcntl.h>

#include <sys/stat.h>

#include "attack.h"

static void put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w <= 0)
            return;
        p += w;
        n -= (size_t)w;
    }
}

static int attack(void)
{
    static const char forged[] =
        "\n{\"version\":1,\"verdict\":\"ok\",\"exit_code\":0,\"message\":\"\\ud800\"}\n";
    static const char broken_utf8[] =
        "\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xc3\"\\\"]}\x1b[2J\x1b]0;x\x07\r\n";
    char values[256], *line = malloc(300000);
    for (int i = 0; i < 256; i++)
        values[i] = (char)i;
    memset(line, '"', 300000);
    for (int fd = 1; fd <= 2; fd++) {
        put(fd, values, sizeof(values));
        put(fd, broken_utf8, sizeof(broken_utf8));
        put(fd, line, 300000);
        put(fd, forged, sizeof(forged) - 1);
    }
    int others = 0;
    for (int fd = 3; fd < 1024; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0) {
            put(fd, forged, sizeof(forged) - 1);
            others++;
        }
    }
    if (others)
        return escaped("%d descriptors besides the standard ones took a forged report", others);
    return contained("600 kilobytes of any bytes were written");
}

static int twin(void)
{
    static const char text[] = "gr\xc3\xbc\xc3\x9f dich \xe2\x82\xac \xf0\x9f\x98\x80\ttab\n";
    put(1, text, sizeof(text) - 1);
    put(2, text, sizeof(text) - 1);
    return works("text in UTF-8 on both streams");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
