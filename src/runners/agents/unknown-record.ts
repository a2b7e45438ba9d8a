/** Reads values of unknown shape from a program. A value of another type than expected counts as missing. */
export type UnknownRecord = Readonly<Record<string, unknown>>

export function asRecord(value: unknown): UnknownRecord {
  return typeof value === 'object' && value !== null ? (value as UnknownRecord) : {}
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A text as JSON; null if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // too deep is a RangeError
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}
