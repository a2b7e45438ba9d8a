const PREFIX = 'casefile.'

/** Keeps a text for the pages of this tab that come after; null forgets it. */
export function keep(name: string, text: string | null): void {
  const store = storeOf()
  if (text === null) store?.removeItem(PREFIX + name)
  else store?.setItem(PREFIX + name, text)
}

export function kept(name: string): string | null {
  return storeOf()?.getItem(PREFIX + name) ?? null
}

/** None where the browser is told to store nothing for sites: it throws as soon as the store is named. */
function storeOf(): Storage | null {
  try {
    return sessionStorage
  } catch (error) {
    if (error instanceof DOMException && error.name === 'SecurityError') return null
    throw error
  }
}
