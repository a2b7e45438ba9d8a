const PREFIX = 'casefile.'

/** What this page remembers if the browser blocks storage, which throws where it is named. */
const here = new Map<string, string>()

function change(area: () => Storage, name: string, text: string | null): void {
  if (text === null) here.delete(name)
  else here.set(name, text)
  try {
    if (text === null) area().removeItem(PREFIX + name)
    else area().setItem(PREFIX + name, text)
  } catch {
    // it is in `here`
  }
}

function read(area: () => Storage, name: string): string | null {
  try {
    return area().getItem(PREFIX + name)
  } catch {
    return here.get(name) ?? null
  }
}

/** Stores a text for later pages of this tab; null removes it. */
export function store(name: string, text: string | null): void {
  change(() => sessionStorage, name, text)
}

export function stored(name: string): string | null {
  return read(() => sessionStorage, name)
}

/** Stores a choice for all pages of this browser; null removes it. */
export function remember(name: string, choice: string | null): void {
  change(() => localStorage, name, choice)
}

export function remembered(name: string): string | null {
  return read(() => localStorage, name)
}
