import type { AnyNode, Identifier, Pattern } from 'acorn'

// Finds out which names of a module belong to the module itself, and which belong to JavaScript or to another module.

/** A use of a name that the module does not define, for example `Date.now` or `import node:fs.readFileSync`. */
export interface Use {
  /** Begins with the name of a global, with `import` and the name of a module, or with `new Date`, which stands for an
   *  object of the class Date. The properties that are read follow, each after a dot: `Math.random`,
   *  `new Date.getHours`. */
  readonly path: string
  /** The expression in the source code that has this path. */
  readonly node: AnyNode
  /** The parent of `node` in the syntax tree. */
  readonly parent: AnyNode | undefined
}

/** The definition to which a name refers in a scope. */
interface Meaning {
  /** An imported name, as `import module.name`. */
  readonly path?: string
  /** `init`: the expression that initializes a variable. `keys`: the properties that a destructuring pattern takes from
   *  the value of this expression. Later assignments are ignored, because the variable has the initial value at least
   *  until then. */
  readonly init?: AnyNode
  readonly keys?: readonly string[]
}

interface Scope {
  readonly outer: Scope | undefined
  readonly isFunction: boolean
  readonly names: Map<string, Meaning>
}

/** Names of the global object itself. */
const GLOBAL_OBJECTS = ['globalThis', 'global', 'self', 'window']
/** Maximum length of a chain of variables in which each is initialized with the next one. */
const LONGEST_CHAIN = 10
const OWN: Meaning = {}

/** Returns every use of a global name or of an imported name in a module. */
export function usesOf(program: AnyNode): Use[] {
  const names = new Names()
  names.visit(program, undefined, newScope(undefined, true))
  return names.uses()
}

function newScope(outer: Scope | undefined, isFunction: boolean): Scope {
  return { outer, isFunction, names: new Map() }
}

class Names {
  readonly #scopes = new Map<Identifier, Scope>()
  readonly #parents = new Map<AnyNode, AnyNode>()
  readonly #reexports: Use[] = []

  visit(node: AnyNode, parent: AnyNode | undefined, outer: Scope): void {
    if (parent !== undefined) this.#parents.set(node, parent)
    const scope = this.#scopeOf(node, outer)
    this.#declare(node, scope, outer)
    if (node.type === 'Identifier' && isReference(node, parent)) this.#scopes.set(node, scope)
    for (const child of childrenOf(node)) this.visit(child, node, scope)
  }

  uses(): Use[] {
    const found = [...this.#reexports]
    for (const [identifier, scope] of this.#scopes) {
      const path = this.#meaningOf(identifier, scope, 0)
      if (path === undefined || this.#isOwnName(identifier)) continue
      const use = this.#longest(identifier, path)
      found.push(use)
      const { parent } = use
      if (use.path === 'Date' && parent?.type === 'NewExpression' && parent.callee === use.node)
        found.push(this.#longest(parent, 'new Date'))
    }
    return found
  }

  /** Whether the identifier is the name that the declaration of a variable introduces. Such a name is not reported, but
   *  a forbidden name in the initial value of the variable is reported. */
  #isOwnName(identifier: Identifier): boolean {
    const parent = this.#parents.get(identifier)
    return parent?.type === 'VariableDeclarator' && parent.id === identifier
  }

  /** Returns the longest chain of property reads that begins with the expression `node`, such as `node.a.b`. `path`:
   *  path of `node`, which the path of the result extends. */
  #longest(node: AnyNode, path: string): Use {
    const parent = this.#parents.get(node)
    if (parent?.type === 'ChainExpression') return this.#longest(parent, path)
    if (parent?.type === 'MemberExpression' && parent.object === node) {
      const key = keyOf(parent.property, parent.computed)
      if (key !== undefined) return this.#longest(parent, extended(path, key))
    }
    return { path, node, parent }
  }

  /** Returns the path of the value to which a name refers; undefined if the module itself defines the value. */
  #meaningOf({ name }: Identifier, scope: Scope, depth: number): string | undefined {
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
      const meaning = at.names.get(name)
      if (meaning === undefined) continue
      if (meaning.path !== undefined || meaning.init === undefined) return meaning.path
      const path = this.#pathOf(meaning.init, depth + 1)
      return path === undefined ? undefined : (meaning.keys ?? []).reduce(extended, path)
    }
    return name
  }

  #pathOf(node: AnyNode, depth: number): string | undefined {
    if (depth > LONGEST_CHAIN) return undefined
    if (node.type === 'ChainExpression') return this.#pathOf(node.expression, depth)
    if (node.type === 'Identifier') {
      const scope = this.#scopes.get(node)
      return scope && this.#meaningOf(node, scope, depth)
    }
    if (node.type === 'NewExpression') return this.#pathOf(node.callee, depth) === 'Date' ? 'new Date' : undefined
    if (node.type !== 'MemberExpression') return undefined
    const key = keyOf(node.property, node.computed)
    const path = key === undefined ? undefined : this.#pathOf(node.object, depth)
    return key === undefined || path === undefined ? undefined : extended(path, key)
  }

  #scopeOf(node: AnyNode, outer: Scope): Scope {
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'StaticBlock':
        return newScope(outer, true)
      case 'BlockStatement':
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'SwitchStatement':
      case 'CatchClause':
      case 'ClassExpression':
        return newScope(outer, false)
      default:
        return outer
    }
  }

  #declare(node: AnyNode, scope: Scope, outer: Scope): void {
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        if (node.id) outer.names.set(node.id.name, OWN)
        break
      case 'ClassExpression':
      case 'FunctionExpression':
        if (node.id) scope.names.set(node.id.name, OWN)
        break
      case 'CatchClause':
        if (node.param) for (const { name } of boundNames(node.param)) scope.names.set(name, OWN)
        break
      case 'VariableDeclaration': {
        const home = node.kind === 'var' ? functionOf(scope) : scope
        for (const { id, init } of node.declarations)
          for (const { name, keys } of boundNames(id))
            home.names.set(name, init && keys ? { init: init as AnyNode, keys } : OWN)
        break
      }
      case 'ImportDeclaration':
        for (const one of node.specifiers) {
          const path = `import ${String(node.source.value)}`
          const isName = one.type === 'ImportSpecifier'
          scope.names.set(one.local.name, { path: isName ? extended(path, nameOf(one.imported)) : path })
        }
        break
      case 'ExportNamedDeclaration':
        for (const one of node.source ? node.specifiers : [])
          this.#reexports.push({
            path: extended(`import ${String(node.source?.value)}`, nameOf(one.local)),
            node: one,
            parent: node,
          })
    }
    if (node.type.includes('Function'))
      for (const param of (node as Extract<AnyNode, { params: Pattern[] }>).params)
        for (const { name } of boundNames(param)) scope.names.set(name, OWN)
  }
}

function functionOf(scope: Scope): Scope {
  let at = scope
  while (!at.isFunction && at.outer !== undefined) at = at.outer
  return at
}

function extended(path: string, key: string): string {
  if (key === 'default') return path
  return GLOBAL_OBJECTS.includes(path) ? key : `${path}.${key}`
}

/** Returns the names that a destructuring pattern defines. `keys`: the properties through which the value of a name is
 *  reached; undefined if they are unknown. */
function boundNames(
  pattern: Pattern,
  keys: readonly string[] | undefined = [],
): { name: string; keys?: readonly string[] }[] {
  switch (pattern.type) {
    case 'Identifier':
      return [{ name: pattern.name, ...(keys && { keys }) }]
    case 'AssignmentPattern':
      return boundNames(pattern.left, keys)
    case 'RestElement':
      return boundNames(pattern.argument, keys)
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => (one ? unknown(one) : []))
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => {
        if (one.type === 'RestElement') return boundNames(one.argument, keys)
        const key = keyOf(one.key, one.computed)
        return key === undefined || keys === undefined ? unknown(one.value) : boundNames(one.value, [...keys, key])
      })
    default:
      return []
  }
}

function unknown(pattern: Pattern): { name: string }[] {
  return boundNames(pattern).map(({ name }) => ({ name }))
}

/** Returns the name of a property; undefined if the name is computed at run time. */
function keyOf(property: AnyNode, computed: boolean): string | undefined {
  if (property.type === 'Identifier') return computed ? undefined : property.name
  if (property.type === 'TemplateLiteral' && property.expressions.length === 0)
    return property.quasis[0]?.value.cooked ?? undefined
  return property.type === 'Literal' ? String(property.value) : undefined
}

function nameOf(node: AnyNode): string {
  return node.type === 'Identifier' ? node.name : node.type === 'Literal' ? String(node.value) : ''
}

/** Whether an identifier refers to a value and does not name a property, a label or an import. */
function isReference(node: Identifier, parent: AnyNode | undefined): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.object === node || parent.computed
    case 'Property':
      return parent.value === node || parent.computed
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.value === node || parent.computed
    case 'ExportSpecifier':
      return parent.local === node
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
    case 'ImportAttribute':
    case 'MetaProperty':
      return false
    default:
      return true
  }
}

/** Returns the child nodes in the order of the source. For imports and re-exports, returns none, because the names in
 *  them do not refer to values of this module. */
export function childrenOf(node: AnyNode): AnyNode[] {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return []
  if (node.type === 'ExportNamedDeclaration' && node.source) return []
  const children: AnyNode[] = []
  for (const value of Object.values(node) as unknown[])
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(one)) children.push(one)
  return children
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as AnyNode).type === 'string'
}
