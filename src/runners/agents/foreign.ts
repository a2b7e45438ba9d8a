/** Reads of values whose shape is whatever a program sent: what is not as expected is not there. */
export type Foreign = Readonly<Record<string, unknown>>

export function objectOf(value: unknown): Foreign {
  return typeof value === 'object' && value !== null ? (value as Foreign) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
