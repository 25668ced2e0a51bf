/**
 * A condition or an operand as a tree. It is a number, or 'figure' with a width and a figure, or 'value' with a name
 * and a field, or a function of the API with its arguments.
 */
export type Tree = number | readonly [string, ...Tree[]] | string
