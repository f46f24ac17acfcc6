#pragma once
/*
 * An address space on the fake platform beside a model of it: an array of pages. Operations are
 * coded in bytes (unit tests make them up at random, the fuzz target takes them from its input);
 * after each one tree, fake page tables and model must agree. A disagreement fails through KASSERT.
 */
#include "lib/compiler.h"

struct mm_model;

/* Sets kernel, platform and a task up; NULL: out of memory. */
struct mm_model *mm_model_new(void);
void mm_model_free(struct mm_model *m);
/* Runs one operation of MM_MODEL_OP bytes. */
enum {
    MM_MODEL_OP = 6
};
void mm_model_step(struct mm_model *m, const uint8_t *b);
/* Tree and page tables agree (also after operations that were made to fail). */
void mm_model_check_tree(struct mm_model *m);
/* Takes the tree's word, after failures. */
void mm_model_resync(struct mm_model *m);
