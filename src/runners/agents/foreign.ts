/** Reads values of unknown shape from a program. A value of another type than expected counts as missing. */
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
