const VIEWED = 'casefile.viewed'
const LAYOUT = 'casefile.diff'
const MAX_DIFFS = 100

/** The hashes of the viewed files of a diff, in this browser. */
export function loadViewed(diff: string): Set<string> {
  const known = readAll().find(([name]) => name === diff)
  return new Set(known?.[1])
}

export function saveViewed(diff: string, viewed: ReadonlySet<string>): void {
  const others = readAll().filter(([name]) => name !== diff)
  write(VIEWED, JSON.stringify([...others, [diff, [...viewed]]].slice(-MAX_DIFFS)))
}

export function storedLayout(): string | null {
  return read(LAYOUT)
}

export function saveLayout(layout: string): void {
  write(LAYOUT, layout)
}

function readAll(): [string, string[]][] {
  try {
    const all: unknown = JSON.parse(read(VIEWED) ?? '[]')
    return Array.isArray(all) ? all : []
  } catch {
    return [] // not what this wrote
  }
}

/** What the page remembers if the browser blocks storage. */
const here = new Map<string, string>()

function read(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return here.get(name) ?? null
  }
}

function write(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
  } catch {
    here.set(name, text)
  }
}
