import type { Reflection, Type } from './reflections.ts'

/** The type as TypeScript, on one line. */
export function typeText(type: Type | undefined): string {
  if (type === undefined) return 'unknown'
  switch (type.type) {
    case 'intrinsic':
      return type.name
    case 'literal':
      return typeof type.value === 'string' ? `'${type.value}'` : String(type.value)
    case 'reference': {
      const given = type.typeArguments ?? []
      return given.length === 0 ? type.name : `${type.name}<${given.map(typeText).join(', ')}>`
    }
    case 'union':
      return inOrder(type.types).map(typeText).join(' | ')
    case 'intersection':
      return type.types.map((one) => (one.type === 'union' ? `(${typeText(one)})` : typeText(one))).join(' & ')
    case 'array':
      return type.elementType.type === 'union' ? `(${typeText(type.elementType)})[]` : `${typeText(type.elementType)}[]`
    case 'rest':
      return `...${typeText(type.elementType)}`
    case 'optional':
      return `${typeText(type.elementType)}?`
    case 'tuple':
      return `[${(type.elements ?? []).map(typeText).join(', ')}]`
    case 'namedTupleMember':
      return `${type.name}: ${typeText(type.element)}`
    case 'typeOperator':
      return `${type.operator} ${typeText(type.target)}`
    case 'reflection':
      return shapeText(type.declaration)
    case 'query':
      return ['typeof', typeText(type.queryType)].join(' ')
    case 'indexedAccess':
      return `${typeText(type.objectType)}[${typeText(type.indexType)}]`
    case 'inferred':
      return `infer ${type.name}`
    case 'templateLiteral':
      return `\`${type.head}${type.tail.map(([part, text]) => `\${${typeText(part)}}${text}`).join('')}\``
    case 'mapped': {
      const [readonly, optional] = [type.readonlyModifier ? 'readonly ' : '', type.optionalModifier ? '?' : '']
      const keys = `[${type.parameter} in ${typeText(type.parameterType)}]`
      return `{ ${readonly}${keys}${optional}: ${typeText(type.templateType)} }`
    }
    case 'conditional': {
      const { checkType, extendsType, trueType, falseType } = type
      const test = `${typeText(checkType)} extends ${typeText(extendsType)}`
      return `${test} ? ${typeText(trueType)} : ${typeText(falseType)}`
    }
    default:
      throw new Error(`typedoc wrote a type that this script does not know: ${JSON.stringify(type)}`)
  }
}

/** Parameters and result of a function, as in a declaration. */
export function signatureText({ parameters = [], type }: Reflection, arrow = ': '): string {
  return `(${parameters.map(fieldText).join(', ')})${arrow}${typeText(type)}`
}

/** A field or a parameter with its type. */
export function fieldText({ name, flags, type, defaultValue }: Reflection): string {
  const isOptional = flags.isOptional === true || defaultValue !== undefined
  return `${name === '__namedParameters' ? 'options' : name}${isOptional ? '?' : ''}: ${typeText(type)}`
}

function shapeText({ children = [], signatures, indexSignatures = [] }: Reflection): string {
  const [call] = signatures ?? []
  if (call !== undefined) return signatureText(call, ' => ')
  const index = indexSignatures.map(({ parameters = [], type }) => `[${parameters.map(fieldText)}]: ${typeText(type)}`)
  const fields = children.map((one) => {
    const method = one.signatures?.[0]
    return method === undefined ? fieldText(one) : `${one.name}${signatureText(method)}`
  })
  return `{ ${[...index, ...fields].join('; ')} }`
}

/** Returns the members of a union type, with `undefined` last. */
function inOrder(types: readonly Type[]): Type[] {
  const isUndefined = (type: Type): boolean => type.type === 'intrinsic' && type.name === 'undefined'
  return [...types].sort((a, b) => Number(isUndefined(a)) - Number(isUndefined(b)))
}
