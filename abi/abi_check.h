#pragma once
/* Assertions for abi_check_*.c. CONST compares LX_NAME with NAME whatever their signedness. */
#include "lib/compiler.h"

#define CONST(name) \
    _Static_assert((unsigned long long)(LX_##name) == (unsigned long long)(name), #name);

#define SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)

#define OFFSET(ours, our_member, theirs, their_member)                             \
    _Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) && \
                       sizeof(__typeof__(((ours *)0)->our_member)) ==              \
                           sizeof(__typeof__(((theirs *)0)->their_member)),        \
                   #ours "." #our_member)
