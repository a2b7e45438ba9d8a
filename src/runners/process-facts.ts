import { readdirSync, readFileSync } from 'node:fs'

/**
 * When a process started, in clock ticks since boot. With the boot id it tells a process from a later
 * one with the same id. Null if there is none, and on systems without /proc.
 */
export function processStart(pid: number): string | null {
  return processStat(pid)?.start ?? null
}

/** Differs after each start of the machine; null on systems without it. */
export function bootId(): string | null {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

/** Every process there is, of all users. */
export function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

export interface ProcessStat {
  /** `Z` is a zombie: it has exited, and its parent has not asked how. */
  state: string
  group: number
  start: string
}

/** Of `/proc/<pid>/stat`, see proc(5); null if there is no such process. */
export function processStat(pid: number): ProcessStat | null {
  const stat = readProc(`/proc/${pid}/stat`)
  if (stat === null) return null
  // The second field is the name in parentheses, and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => fields[number - 3] ?? ''
  return { state: field(3), group: Number(field(5)), start: field(22) }
}

/** The environment it began with, `NAME=value` each; empty for a zombie, null if not ours to read. */
export function processEnvironment(pid: number): string[] | null {
  return readProc(`/proc/${pid}/environ`)?.split('\0') ?? null
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null
    throw error
  }
}
