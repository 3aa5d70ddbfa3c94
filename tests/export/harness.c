/* Reads rows of cells (- missing, n and a number, s and bytes in hexadecimal) and prints, for each,
   the class and the scores, or -1. */
#include "model.c"
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 4096

static int answer(const suffice_cell *row, double *proba) {
#ifdef CLASSES
    return suffice_predict(row, proba);
#else
    return suffice_scores(row, proba);
#endif
}

int main(void) {
    static char words[SUFFICE_COLUMNS][LONGEST], texts[SUFFICE_COLUMNS][LONGEST];
    suffice_cell row[SUFFICE_COLUMNS];
    double scores[SUFFICE_OUTPUTS], proba[SUFFICE_OUTPUTS];
    for (;;) {
        for (int j = 0; j < SUFFICE_COLUMNS; j++) {
            const char *word = words[j];
            size_t n = 0;
            if (scanf("%4095s", words[j]) != 1)
                return 0;
            row[j].text = NULL;
            row[j].number = NAN;
            if (word[0] == 'n')
                row[j].number = strtod(word + 1, NULL);
            if (word[0] != 's')
                continue;
            for (word++; word[0] != '\0'; word += 2) {
                char pair[3] = {word[0], word[1], '\0'};
                texts[j][n++] = (char)strtol(pair, NULL, 16);
            }
            texts[j][n] = '\0';
            row[j].text = texts[j];
        }
        int place = answer(row, proba);
        printf("%d", place);
        if (place >= 0 && suffice_scores(row, scores) == 0)
            for (int c = 0; c < SUFFICE_OUTPUTS; c++)
                printf(" %a %a", scores[c], proba[c]);
        printf("\n");
    }
}
