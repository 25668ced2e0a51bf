/** A condition or an operand as a tree: a number; a width and a figure after 'figure'; a name and a field after
 *  'value'; or a function of the API with its arguments. */
export type Tree = number | readonly [string, ...Tree[]] | string
