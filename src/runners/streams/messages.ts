/** More than any plan may have: a message is kept whole or not at all. */
const MAX_CHARACTERS = 1024 * 1024

export interface Messages {
  /** A whole message. */
  add(text: string): void
  /** A part of one. */
  append(text: string): void
  /** The parts so far are a message. */
  close(): void
  /** The message that is being appended to lacks a part: none of it counts. */
  spoil(): void
  end(): { messages: string[]; overlong: boolean }
}

/** What an agent said. The oldest messages are dropped where it says too much. */
export function createMessages(): Messages {
  const messages: string[] = []
  let parts = ''
  let total = 0
  let isSpoilt = false
  let overlong = false

  function add(text: string): void {
    if (text.trim() === '') return
    if (text.length > MAX_CHARACTERS) {
      overlong = true
      return
    }
    messages.push(text)
    total += text.length
    while (total > 2 * MAX_CHARACTERS) total -= messages.shift()!.length
  }

  function close(): void {
    if (isSpoilt) overlong = true
    else add(parts)
    parts = ''
    isSpoilt = false
  }

  function spoil(): void {
    parts = ''
    isSpoilt = true
  }

  return {
    add(text) {
      close()
      add(text)
    },
    append(text) {
      if (isSpoilt) return
      parts += text
      if (parts.length > MAX_CHARACTERS) spoil()
    },
    close,
    spoil,
    end() {
      close()
      return { messages, overlong }
    },
  }
}
