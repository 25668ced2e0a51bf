import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The part of typedoc's JSON that this repository reads.

export const Kind = {
  variable: 32,
  function: 64,
  class: 128,
  interface: 256,
  constructor: 512,
  property: 1024,
  method: 2048,
  accessor: 262_144,
  typeAlias: 2_097_152,
} as const

export interface Reflection {
  readonly name: string
  readonly kind: number
  readonly flags: { readonly isOptional?: boolean; readonly isReadonly?: boolean }
  readonly comment?: Comment
  readonly sources?: readonly { readonly fileName: string; readonly line: number }[]
  readonly children?: readonly Reflection[]
  readonly signatures?: readonly Reflection[]
  readonly indexSignatures?: readonly Reflection[]
  readonly getSignature?: Reflection
  readonly parameters?: readonly Reflection[]
  readonly typeParameters?: readonly Reflection[]
  readonly type?: Type
  readonly defaultValue?: string
  readonly inheritedFrom?: object
}

export interface Comment {
  readonly summary: readonly { readonly text: string }[]
  readonly modifierTags?: readonly string[]
}

export type Type =
  | { readonly type: 'intrinsic'; readonly name: string }
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'reference'; readonly name: string; readonly typeArguments?: readonly Type[] }
  | { readonly type: 'union' | 'intersection'; readonly types: readonly Type[] }
  | { readonly type: 'array' | 'rest' | 'optional'; readonly elementType: Type }
  | { readonly type: 'tuple'; readonly elements?: readonly Type[] }
  | { readonly type: 'namedTupleMember'; readonly name: string; readonly element: Type }
  | { readonly type: 'typeOperator'; readonly operator: string; readonly target: Type }
  | { readonly type: 'reflection'; readonly declaration: Reflection }
  | { readonly type: 'query'; readonly queryType: Type }
  | { readonly type: 'indexedAccess'; readonly objectType: Type; readonly indexType: Type }
  | { readonly type: 'inferred'; readonly name: string }
  | { readonly type: 'templateLiteral'; readonly head: string; readonly tail: readonly (readonly [Type, string])[] }
  | {
      readonly type: 'mapped'
      readonly parameter: string
      readonly parameterType: Type
      readonly templateType: Type
      readonly readonlyModifier?: string
      readonly optionalModifier?: string
    }
  | {
      readonly type: 'conditional'
      readonly checkType: Type
      readonly extendsType: Type
      readonly trueType: Type
      readonly falseType: Type
    }

/** One entry point of the package, for example `sluice/testing`. */
export interface EntryPoint {
  readonly name: string
  readonly exports: readonly Reflection[]
}

/** Everything that the package exports, as typedoc reads it from the sources. Throws an error with the messages of
 *  typedoc if an exported type refers to one that is not exported. */
export function readEntryPoints(): EntryPoint[] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  const json = join(folder, 'api.json')
  try {
    execFileSync(process.execPath, ['node_modules/typedoc/bin/typedoc', '--json', json], { stdio: 'inherit' })
    const project = JSON.parse(readFileSync(json, 'utf8')) as Reflection
    return (project.children ?? []).map(({ name, children = [] }) => ({
      name: name === 'index' ? 'sluice' : `sluice/${name}`,
      exports: children,
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The text of a docstring on one line; '' without one. A method has its docstring at its signature. */
export function docstring({ comment, signatures, getSignature }: Reflection): string {
  const own = comment ?? signatures?.[0]?.comment ?? getSignature?.comment
  return (own?.summary ?? [])
    .map(({ text }) => text)
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Whether the docstring says with the tag `@unitless` that its number has no unit. */
export function isUnitless({ comment, signatures, getSignature }: Reflection): boolean {
  const own = comment ?? signatures?.[0]?.comment ?? getSignature?.comment
  return own?.modifierTags?.includes('@unitless') ?? false
}
