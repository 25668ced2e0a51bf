/**
 * A condition or an operand as a tree, in one of these forms: a number; `['figure', width, figure of the bar]`;
 * `['value', name of an indicator, field]`; or the name of a function of the API, followed by its arguments.
 */
export type Tree = number | readonly [string, ...Tree[]] | string
