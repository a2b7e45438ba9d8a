/** Longer than any plan may be. A message is kept completely or not at all. */
const MAX_CHARACTERS = 1024 * 1024

export interface Messages {
  /** Adds a whole message. */
  add(text: string): void
  /** Adds a chunk to the current message. */
  append(text: string): void
  /** Completes the current message. */
  close(): void
  /** Discards the current message, because a chunk of it is missing. */
  spoil(): void
  end(): { messages: string[]; overlong: boolean }
}

/** Collects an agent's messages. Drops the oldest if there are too many. */
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
