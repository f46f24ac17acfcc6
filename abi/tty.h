#pragma once
/* Terminals: termios, window size, the TIOC and TC ioctls. */
#include "lib/compiler.h"

#define LX_NCCS 19

/* What TCGETS and TCSETS carry: 36 bytes (the C library's own struct is longer). */
struct lx_termios {
    uint32_t c_iflag;
    uint32_t c_oflag;
    uint32_t c_cflag;
    uint32_t c_lflag;
    uint8_t c_line;
    uint8_t c_cc[LX_NCCS];
};

/* TCGETS2 and TCSETS2 */
struct lx_termios2 {
    uint32_t c_iflag;
    uint32_t c_oflag;
    uint32_t c_cflag;
    uint32_t c_lflag;
    uint8_t c_line;
    uint8_t c_cc[LX_NCCS];
    uint32_t c_ispeed;
    uint32_t c_ospeed;
};

/* TCGETA and TCSETA */
struct lx_termio {
    uint16_t c_iflag;
    uint16_t c_oflag;
    uint16_t c_cflag;
    uint16_t c_lflag;
    uint8_t c_line;
    uint8_t c_cc[8];
};

struct lx_winsize {
    uint16_t ws_row;
    uint16_t ws_col;
    uint16_t ws_xpixel;
    uint16_t ws_ypixel;
};

/* c_cc */
#define LX_VINTR          0
#define LX_VQUIT          1
#define LX_VERASE         2
#define LX_VKILL          3
#define LX_VEOF           4
#define LX_VTIME          5
#define LX_VMIN           6
#define LX_VSWTC          7
#define LX_VSTART         8
#define LX_VSTOP          9
#define LX_VSUSP          10
#define LX_VEOL           11
#define LX_VREPRINT       12
#define LX_VDISCARD       13
#define LX_VWERASE        14
#define LX_VLNEXT         15
#define LX_VEOL2          16
#define LX_POSIX_VDISABLE 0

/* c_iflag */
#define LX_IGNBRK  0x1
#define LX_BRKINT  0x2
#define LX_IGNPAR  0x4
#define LX_PARMRK  0x8
#define LX_INPCK   0x10
#define LX_ISTRIP  0x20
#define LX_INLCR   0x40
#define LX_IGNCR   0x80
#define LX_ICRNL   0x100
#define LX_IUCLC   0x200
#define LX_IXON    0x400
#define LX_IXANY   0x800
#define LX_IXOFF   0x1000
#define LX_IMAXBEL 0x2000
#define LX_IUTF8   0x4000

/* c_oflag */
#define LX_OPOST  0x1
#define LX_OLCUC  0x2
#define LX_ONLCR  0x4
#define LX_OCRNL  0x8
#define LX_ONOCR  0x10
#define LX_ONLRET 0x20
#define LX_OFILL  0x40
#define LX_OFDEL  0x80
#define LX_NLDLY  0x100
#define LX_CRDLY  0x600
#define LX_TABDLY 0x1800
#define LX_TAB0   0x0
#define LX_XTABS  0x1800
#define LX_BSDLY  0x2000
#define LX_VTDLY  0x4000
#define LX_FFDLY  0x8000

/* c_cflag */
#define LX_CBAUD   0x100f
#define LX_CBAUDEX 0x1000
#define LX_CSIZE   0x30
#define LX_CS5     0x0
#define LX_CS6     0x10
#define LX_CS7     0x20
#define LX_CS8     0x30
#define LX_CSTOPB  0x40
#define LX_CREAD   0x80
#define LX_PARENB  0x100
#define LX_PARODD  0x200
#define LX_HUPCL   0x400
#define LX_CLOCAL  0x800
#define LX_CIBAUD  0x100f0000
#define LX_CMSPAR  0x40000000
#define LX_CRTSCTS 0x80000000u
#define LX_BOTHER  0x1000
#define LX_B0      0x0
#define LX_B50     0x1
#define LX_B75     0x2
#define LX_B110    0x3
#define LX_B300    0x7
#define LX_B1200   0x9
#define LX_B2400   0xb
#define LX_B4800   0xc
#define LX_B9600   0xd
#define LX_B19200  0xe
#define LX_B38400  0xf
#define LX_B57600  0x1001
#define LX_B115200 0x1002
#define LX_B230400 0x1003

/* c_lflag */
#define LX_ISIG    0x1
#define LX_ICANON  0x2
#define LX_XCASE   0x4
#define LX_ECHO    0x8
#define LX_ECHOE   0x10
#define LX_ECHOK   0x20
#define LX_ECHONL  0x40
#define LX_NOFLSH  0x80
#define LX_TOSTOP  0x100
#define LX_ECHOCTL 0x200
#define LX_ECHOPRT 0x400
#define LX_ECHOKE  0x800
#define LX_FLUSHO  0x1000
#define LX_PENDIN  0x4000
#define LX_IEXTEN  0x8000
#define LX_EXTPROC 0x10000

/* tcflush, tcflow */
#define LX_TCIFLUSH  0
#define LX_TCOFLUSH  1
#define LX_TCIOFLUSH 2
#define LX_TCOOFF    0
#define LX_TCOON     1
#define LX_TCIOFF    2
#define LX_TCION     3

/* ioctl numbers */
#define LX_TCGETS       0x5401
#define LX_TCSETS       0x5402
#define LX_TCSETSW      0x5403
#define LX_TCSETSF      0x5404
#define LX_TCGETA       0x5405
#define LX_TCSETA       0x5406
#define LX_TCSETAW      0x5407
#define LX_TCSETAF      0x5408
#define LX_TCSBRK       0x5409
#define LX_TCXONC       0x540a
#define LX_TCFLSH       0x540b
#define LX_TIOCEXCL     0x540c
#define LX_TIOCNXCL     0x540d
#define LX_TIOCSCTTY    0x540e
#define LX_TIOCGPGRP    0x540f
#define LX_TIOCSPGRP    0x5410
#define LX_TIOCOUTQ     0x5411
#define LX_TIOCSTI      0x5412
#define LX_TIOCGWINSZ   0x5413
#define LX_TIOCSWINSZ   0x5414
#define LX_TIOCMGET     0x5415
#define LX_TIOCMBIS     0x5416
#define LX_TIOCMBIC     0x5417
#define LX_TIOCMSET     0x5418
#define LX_TIOCGSOFTCAR 0x5419
#define LX_TIOCSSOFTCAR 0x541a
#define LX_TIOCINQ      0x541b
#define LX_TIOCLINUX    0x541c
#define LX_TIOCCONS     0x541d
#define LX_TIOCGSERIAL  0x541e
#define LX_TIOCSSERIAL  0x541f
#define LX_TIOCPKT      0x5420
#define LX_TIOCNOTTY    0x5422
#define LX_TIOCSETD     0x5423
#define LX_TIOCGETD     0x5424
#define LX_TCSBRKP      0x5425
#define LX_TIOCSBRK     0x5427
#define LX_TIOCCBRK     0x5428
#define LX_TIOCGSID     0x5429
#define LX_TCGETS2      0x802c542au
#define LX_TCSETS2      0x402c542b
#define LX_TCSETSW2     0x402c542c
#define LX_TCSETSF2     0x402c542d
#define LX_TIOCGPTN     0x80045430u
#define LX_TIOCSPTLCK   0x40045431
#define LX_TIOCGDEV     0x80045432u
#define LX_TIOCVHANGUP  0x5437
#define LX_TIOCGPKT     0x80045438u
#define LX_TIOCGPTLCK   0x80045439u
#define LX_TIOCGEXCL    0x80045440u
#define LX_TIOCGPTPEER  0x5441

/* TIOCPKT: the status byte */
#define LX_TIOCPKT_DATA       0x0
#define LX_TIOCPKT_FLUSHREAD  0x1
#define LX_TIOCPKT_FLUSHWRITE 0x2
#define LX_TIOCPKT_STOP       0x4
#define LX_TIOCPKT_START      0x8
#define LX_TIOCPKT_NOSTOP     0x10
#define LX_TIOCPKT_DOSTOP     0x20
#define LX_TIOCPKT_IOCTL      0x40

/* Device numbers */
#define LX_TTYAUX_MAJOR           5
#define LX_UNIX98_PTY_SLAVE_MAJOR 136
#define LX_MEM_MAJOR              1
