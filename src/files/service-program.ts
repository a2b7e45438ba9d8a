/** Where the programs are that the service itself starts: in no place that a run may write to. */

import { realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import which from 'which'
import { codeOf } from './errno.ts'
import { isWithin } from './real-path.ts'

/** What a run may write to, as real paths. */
export interface RunWritable {
  places: readonly string[]
  temporary: readonly string[]
}

/** Null in a process that starts no runs. */
let writable: { places: Set<string>; temporary: Set<string> } | null = null
const known = new Map<string, string>()

/** From now on no program of this process comes from there, or from what `closeToPrograms` adds. */
export function startNothingFrom({ places, temporary }: RunWritable): void {
  writable = { places: new Set(places), temporary: new Set(temporary) }
  known.clear()
}

/** Adds what a run may write to. Does nothing before `startNothingFrom`. */
export function closeToPrograms(paths: readonly string[]): void {
  if (writable === null) return
  const { places, temporary } = writable
  for (const path of paths) if (!temporary.has(path)) places.add(path)
  known.clear()
}

/**
 * Whether a run may have written the file or folder, or where its links lead. For agents, temporary folders do not count:
 * the operator put one of them on the PATH.
 */
export function isOfRun(path: string, isAgent = false): boolean {
  if (writable === null) return false
  const folders = [...writable.places, ...(isAgent ? [] : writable.temporary)]
  return [path, realOf(path)].some((each) => folders.some((folder) => isWithin(folder, each)))
}

/** The entries of a PATH from which the service starts programs, and those which its programs get. */
export function servicePath(path: string = process.env.PATH ?? '/usr/bin:/bin'): string {
  const kept = path.split(':').filter((folder) => isAbsolute(folder) && !isOfRun(folder))
  return kept.join(':')
}

/** The absolute path of a program. Throws an error with the code `ENOENT` that says why there is none. */
export function serviceProgram(name: string, path?: string): string {
  const whole = path ?? process.env.PATH ?? '/usr/bin:/bin'
  const found = findServiceProgram(name, whole)
  if (found === null) throw notFound(name, whole)
  return found
}

/** The same; null if there is none. */
export function findServiceProgram(name: string, whole: string): string | null {
  const key = `${whole}\0${name}`
  const before = known.get(key)
  if (before !== undefined && which.sync(before, { nothrow: true }) !== null) return before
  const folders = servicePath(whole).split(':')
  const files = folders.flatMap((folder) => which.sync(join(folder, name), { nothrow: true }) ?? [])
  const found = files.find((file) => !isOfRun(file))
  if (found === undefined) return null
  known.set(key, found)
  return found
}

function notFound(name: string, path: string): Error {
  const only = which.sync(name, { nothrow: true, path })
  const why =
    only === null
      ? `${name} was not found on the PATH`
      : `${name} was found only in ${only}, where a run could have put it. Start Casefile with a PATH that has it elsewhere`
  return Object.assign(new Error(why), { code: 'ENOENT', syscall: `spawn ${name}`, path: name })
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) === '') throw error
    return path
  }
}
