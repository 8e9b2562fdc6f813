/** Counts tokens as a widespread model family does. */

import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';

const o200k = new Tiktoken(ranks);

/** Tokens of a value as JSON. */
export const tokens = (value: unknown) => o200k.encode(JSON.stringify(value)).length;
