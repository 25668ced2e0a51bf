/** A button below a message. */
export interface Button {
  readonly text: string
  readonly data: string
}

const LONGEST_BUTTON_DATA = 64
const MOST_BUTTONS = 100

/** Reads the inline keyboard of a message. Returns the description of the refusal if the Bot API would refuse it. */
export function buttonsOf(markup: unknown): readonly Button[] | string {
  if (markup === undefined) return []
  const rows = (markup as { inline_keyboard?: unknown } | null)?.inline_keyboard
  if (!Array.isArray(rows) || !rows.every(Array.isArray)) return "can't parse reply keyboard markup JSON object"
  const buttons: Button[] = []
  for (const { text, callback_data } of rows.flat() as { text?: unknown; callback_data?: unknown }[]) {
    if (typeof text !== 'string' || text === '') return 'can\'t parse inline keyboard button: Can\'t find field "text"'
    if (callback_data === undefined)
      return "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
    const bytes = typeof callback_data === 'string' ? Buffer.byteLength(callback_data) : 0
    if (bytes < 1 || bytes > LONGEST_BUTTON_DATA) return 'BUTTON_DATA_INVALID'
    buttons.push({ text, data: callback_data as string })
  }
  return buttons.length > MOST_BUTTONS ? 'Bad Request: reply markup is too long' : buttons
}
