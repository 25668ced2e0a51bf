declare module 'write-good' {
  interface Suggestion {
    index: number
    offset: number
    reason: string
  }
  export default function writeGood(text: string, options: Record<string, boolean>): Suggestion[]
}
