type Members = Record<string, unknown>

/** A message without what is null in it where it may be left out: many clients, and models, write it so. */
export function withoutNulls(message: unknown): unknown {
  if (!isMembers(message) || typeof message.method !== 'string') return message
  const { params, ...rest } = message
  if (params === null) return rest
  if (!isMembers(params)) return message
  const given = notNull(params)
  if (isMembers(given.arguments)) given.arguments = notNull(given.arguments)
  return { ...rest, params: given }
}

function notNull(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
