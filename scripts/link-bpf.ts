// Links one object file of clang's `bpf` target into the form that Solana's loader accepts: a shared object of SBPF
// version 0 with a `.text` section and one dynamic relocation for each syscall (github.com/anza-xyz/sbpf elf.rs). The
// stock lld does not know the relocations of this target.

/** ELF constants (System V ABI). R_BPF_64_32 is a call by symbol, at a byte offset in the code. */
const R_BPF_64_32 = 10
const CALL = 0x85
const PAGE = 0x1000
const [HEADER, PROGRAM_HEADER, SECTION_HEADER, SYMBOL, RELOCATION, DYNAMIC] = [64, 56, 64, 24, 16, 16]

interface Section {
  name: string
  data: Buffer
  /** For a section of relocations: index of the section to which they apply. */
  link: number
}

interface Call {
  /** Byte offset in the code. */
  offset: number
  syscall: string
}

interface ObjectFile {
  code: Buffer
  /** Byte offset of `entrypoint` in the code. */
  entry: number
  calls: Call[]
}

/** Returns the bytes of the program. Throws an error that names the cause if the loader would not accept the object. */
export function linkProgram(object: Buffer): Buffer {
  const { code, entry, calls } = readObject(object)
  const linked = Buffer.from(code)
  for (const { offset } of calls) linked.writeInt32LE(-1, offset + 4)
  return writeProgram(linked, entry, calls)
}

function readObject(object: Buffer): ObjectFile {
  const sections = readSections(object)
  const loaded = sections.filter(({ name, data }) => data.length > 0 && /^\.(rodata|data|bss|text\.)/.test(name))
  if (loaded.length > 0)
    throw new Error(`programs have no initialized memory on chain: remove the cause of ${loaded[0]?.name}`)
  const code = find(sections, '.text').data
  const symbols = readSymbols(sections)
  const entry = symbols.find(({ name, isDefined }) => name === 'entrypoint' && isDefined)
  if (entry === undefined) throw new Error('the object has no function `entrypoint`')
  const relocations = sections.find(({ name }) => name === '.rel.text')?.data ?? Buffer.alloc(0)
  return {
    code,
    entry: entry.value,
    calls: records(relocations, RELOCATION).map((record) => readCall(record, code, symbols)),
  }
}

function readCall(record: Buffer, code: Buffer, symbols: ReturnType<typeof readSymbols>): Call {
  const offset = Number(record.readBigUInt64LE(0))
  const symbol = symbols[record.readUInt32LE(12)]
  const isCall = record.readUInt32LE(8) === R_BPF_64_32 && code[offset] === CALL
  if (!isCall || symbol === undefined || symbol.isDefined || !symbol.name.startsWith('sol_'))
    throw new Error(`at byte ${offset} of the code: ${symbol?.name ?? 'nothing'} is not a syscall`)
  return { offset, syscall: symbol.name }
}

function readSections(object: Buffer): Section[] {
  const headers = records(object.subarray(Number(object.readBigUInt64LE(40))), SECTION_HEADER).slice(
    0,
    object.readUInt16LE(60),
  )
  const bare = headers.map((header) => {
    const [start, size] = [Number(header.readBigUInt64LE(24)), Number(header.readBigUInt64LE(32))]
    return { name: header.readUInt32LE(0), data: object.subarray(start, start + size), link: header.readUInt32LE(40) }
  })
  const names = bare[object.readUInt16LE(62)]?.data ?? Buffer.alloc(0)
  return bare.map((section) => ({ ...section, name: textAt(names, section.name) }))
}

function readSymbols(sections: Section[]): { name: string; value: number; isDefined: boolean }[] {
  const table = find(sections, '.symtab')
  const names = sections[table.link]?.data ?? Buffer.alloc(0)
  return records(table.data, SYMBOL).map((record) => ({
    name: textAt(names, record.readUInt32LE(0)),
    value: Number(record.readBigUInt64LE(8)),
    isDefined: record.readUInt16LE(6) !== 0,
  }))
}

function find(sections: Section[], name: string): Section {
  const found = sections.find((section) => section.name === name)
  if (found === undefined) throw new Error(`the object has no ${name}`)
  return found
}

function records(data: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.floor(data.length / size) }, (_, index) =>
    data.subarray(index * size, (index + 1) * size),
  )
}

function textAt(names: Buffer, start: number): string {
  return names.toString('latin1', start, names.indexOf(0, start))
}

/** Indexes of the program's sections, in file order. Sections refer to each other by index. */
const [TEXT, DYN, DYNSYM, DYNSTR] = [1, 2, 3, 4]

interface Part {
  name: string
  type: number
  flags: number
  data: Buffer
  link: number
  entrySize: number
}

/** Returns the bytes of the ELF file. Each part has the same address in memory as its offset in the file. */
function writeProgram(code: Buffer, entry: number, calls: Call[]): Buffer {
  const syscalls = [...new Set(calls.map(({ syscall }) => syscall))]
  const [names, placeOf] = nameTable(['entrypoint', ...syscalls])
  const start = HEADER + 3 * PROGRAM_HEADER
  const dynamicAt = align(start + code.length)
  const symbolsAt = dynamicAt + 9 * DYNAMIC
  const namesAt = symbolsAt + (syscalls.length + 2) * SYMBOL
  const relocationsAt = align(namesAt + names.length)
  const symbols = [
    symbol(0, 0, 0, 0),
    symbol(placeOf('entrypoint'), 0x12, TEXT, start + entry),
    ...syscalls.map((name) => symbol(placeOf(name), 0x10, 0, 0)),
  ]
  const relocations = calls.map(({ offset, syscall }) =>
    words(start + offset, (BigInt(syscalls.indexOf(syscall) + 2) << 32n) | BigInt(R_BPF_64_32)),
  )
  // Entries of the ELF section `.dynamic`, as pairs of tag and value: FLAGS (TEXTREL), REL, RELSZ, RELENT, SYMTAB,
  // SYMENT, STRTAB, STRSZ, NULL.
  const dynamic = [0x1e, 4, 0x11, relocationsAt, 0x12, relocations.length * RELOCATION, 0x13, RELOCATION]
  dynamic.push(6, symbolsAt, 0x0b, SYMBOL, 5, namesAt, 0x0a, names.length, 0, 0)
  const parts: Part[] = [
    { name: '.text', type: 1, flags: 6, data: code, link: 0, entrySize: 0 },
    { name: '.dynamic', type: 6, flags: 3, data: words(...dynamic), link: DYNSTR, entrySize: DYNAMIC },
    { name: '.dynsym', type: 11, flags: 2, data: Buffer.concat(symbols), link: DYNSTR, entrySize: SYMBOL },
    { name: '.dynstr', type: 3, flags: 2, data: names, link: 0, entrySize: 0 },
    { name: '.rel.dyn', type: 9, flags: 2, data: Buffer.concat(relocations), link: DYNSYM, entrySize: RELOCATION },
  ]
  const places = [start, dynamicAt, symbolsAt, namesAt, relocationsAt]
  const end = relocationsAt + relocations.length * RELOCATION
  const segments = [
    segment(1, 5, start, code.length, PAGE),
    segment(1, 4, symbolsAt, end - symbolsAt, PAGE),
    segment(DYN, 6, dynamicAt, 9 * DYNAMIC, 8),
  ]
  return assemble(segments, parts, places, start + entry)
}

function assemble(segments: Buffer[], parts: Part[], places: number[], entry: number): Buffer {
  const [names, placeOf] = nameTable([...parts.map(({ name }) => name), '.shstrtab'])
  const last = parts.length - 1
  const namesAt = (places[last] as number) + (parts[last] as Part).data.length
  const headersAt = align(namesAt + names.length)
  const all = [...parts, { name: '.shstrtab', type: 3, flags: 0, data: names, link: 0, entrySize: 0 }]
  const file = Buffer.alloc(headersAt + (all.length + 1) * SECTION_HEADER)
  file.set(fileHeader(entry, headersAt, segments.length, all.length + 1), 0)
  for (const [index, header] of segments.entries()) file.set(header, HEADER + index * PROGRAM_HEADER)
  for (const [index, part] of all.entries()) {
    const offset = places[index] ?? namesAt
    file.set(part.data, offset)
    file.set(sectionHeader(part, placeOf(part.name), offset), headersAt + (index + 1) * SECTION_HEADER)
  }
  return file
}

/** Returns the header of an ELF file: 64-bit, little-endian, shared object, machine `bpf`. */
function fileHeader(entry: number, sectionsAt: number, segments: number, sections: number): Buffer {
  const header = Buffer.alloc(HEADER)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(3, 16)
  header.writeUInt16LE(247, 18)
  header.writeUInt32LE(1, 20)
  header.set(words(entry, HEADER, sectionsAt), 24)
  const sizes = [HEADER, PROGRAM_HEADER, segments, SECTION_HEADER, sections, sections - 1]
  for (const [index, size] of sizes.entries()) header.writeUInt16LE(size, 52 + 2 * index)
  return header
}

function segment(type: number, flags: number, offset: number, size: number, alignment: number): Buffer {
  const header = Buffer.alloc(PROGRAM_HEADER)
  header.writeUInt32LE(type, 0)
  header.writeUInt32LE(flags, 4)
  header.set(words(offset, offset, offset, size, size, alignment), 8)
  return header
}

function sectionHeader({ type, flags, data, link, entrySize }: Part, name: number, offset: number): Buffer {
  const header = Buffer.alloc(SECTION_HEADER)
  header.writeUInt32LE(name, 0)
  header.writeUInt32LE(type, 4)
  header.set(words(flags, flags === 0 ? 0 : offset, offset, data.length), 8)
  header.writeUInt32LE(link, 40)
  // In .dynsym (type 11), this field is the index of the first symbol that is not local.
  header.writeUInt32LE(type === 11 ? 1 : 0, 44)
  header.set(words(type === 3 ? 1 : 8, entrySize), 48)
  return header
}

function symbol(name: number, info: number, section: number, value: number): Buffer {
  const record = Buffer.alloc(SYMBOL)
  record.writeUInt32LE(name, 0)
  record[4] = info
  record.writeUInt16LE(section, 6)
  record.writeBigUInt64LE(BigInt(value), 8)
  return record
}

/** A table of null-terminated names, and a function that returns the offset of a name. */
function nameTable(names: string[]): [table: Buffer, placeOf: (name: string) => number] {
  const table = Buffer.from(`\0${names.join('\0')}\0`, 'latin1')
  return [table, (name) => table.indexOf(`\0${name}\0`, 0, 'latin1') + 1]
}

function words(...values: (number | bigint)[]): Buffer {
  const buffer = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) buffer.writeBigUInt64LE(BigInt(value), 8 * index)
  return buffer
}

function align(offset: number): number {
  return (offset + 7) & ~7
}
