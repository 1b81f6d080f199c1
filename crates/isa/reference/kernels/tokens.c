/* A tokenizer and an evaluator of expressions by recursive descent, as a compiler begins. */
#include "kernel.h"

enum kind { END, NUMBER, NAME, PLUS, MINUS, TIMES, OVER, OPEN, CLOSE, ASSIGN, SEMICOLON };

static const char source[] =
    "a = 12 + 3 * (4 - 1); b = a * a - 7 / (1 + 1); c = (a + b) * (a - b) + 100;"
    "d = ((c)); e = d / 3 - -4; total = a + b * 2 + c / 5 - d + e * (1 + 2 * (3 + 4 * (5 + 6)));";
static const char *at;
static enum kind now;
static i32 number, values[128];
static u32 name;

static void next(void)
{
    while (*at == ' ')
        at++;
    char c = *at;
    if (c >= '0' && c <= '9') {
        for (number = 0; *at >= '0' && *at <= '9'; at++)
            number = number * 10 + (*at - '0');
        now = NUMBER;
        return;
    }
    if (c >= 'a' && c <= 'z') {
        for (name = 0; *at >= 'a' && *at <= 'z'; at++)
            name = name * 33 + (u32)*at;
        now = NAME;
        return;
    }
    if (c)
        at++;
    switch (c) {
    case '+': now = PLUS; break;
    case '-': now = MINUS; break;
    case '*': now = TIMES; break;
    case '/': now = OVER; break;
    case '(': now = OPEN; break;
    case ')': now = CLOSE; break;
    case '=': now = ASSIGN; break;
    case ';': now = SEMICOLON; break;
    default: now = END;
    }
}

static i32 sum(void);

static i32 factor(void)
{
    i32 value = 0;
    switch (now) {
    case NUMBER: value = number; break;
    case NAME: value = values[name % 128]; break;
    case MINUS: next(); return -factor();
    case OPEN: next(); value = sum(); break;
    default: break;
    }
    next();
    return value;
}

static i32 product(void)
{
    i32 value = factor();
    while (now == TIMES || now == OVER) {
        enum kind what = now;
        next();
        i32 other = factor();
        value = what == TIMES ? value * other : other ? value / other : 0;
    }
    return value;
}

static i32 sum(void)
{
    i32 value = product();
    while (now == PLUS || now == MINUS) {
        enum kind what = now;
        next();
        i32 other = product();
        value = what == PLUS ? value + other : value - other;
    }
    return value;
}

int main(void)
{
    u32 all = 0;
    for (int round = 0; round < 20; round++) {
        at = source;
        next();
        while (now == NAME) {
            u32 place = name % 128;
            next();
            next();
            values[place] = sum() + round;
            all = all * 31 + (u32)values[place];
            next();
        }
    }
    return check(all, TOKENS);
}
