const PREFIX = 'casefile.'

/** Stores a text for later pages of this tab; null removes it. */
export function store(name: string, text: string | null): void {
  const storage = sessionStorageIfAllowed()
  if (text === null) storage?.removeItem(PREFIX + name)
  else storage?.setItem(PREFIX + name, text)
}

export function stored(name: string): string | null {
  return sessionStorageIfAllowed()?.getItem(PREFIX + name) ?? null
}

/** Null if the browser blocks storage: naming it throws then. */
function sessionStorageIfAllowed(): Storage | null {
  try {
    return sessionStorage
  } catch (error) {
    if (error instanceof DOMException && error.name === 'SecurityError') return null
    throw error
  }
}
