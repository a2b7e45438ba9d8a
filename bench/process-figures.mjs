import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Inotify watches that a process holds; Linux only. @param {number} pid */
export function watchesOf(pid) {
  const folder = `/proc/${pid}/fdinfo`
  return readdirSync(folder)
    .map((name) => readFileSync(`${folder}/${name}`, 'latin1').match(/^inotify wd:/gm)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0)
}

/** Resident memory in bytes; Linux only. @param {number} pid */
export function memoryOf(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(kilobytes?.[1]) * 1024
}

/** Milliseconds that it has run on any core, in steps of 10; Linux only. @param {number} pid */
export function processorMsOf(pid) {
  return ticksOf(pid) * 10
}

/** Clock ticks of 10 ms in which it ran. @param {number} pid */
function ticksOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

const LOOK_MS = 250
const QUIET_LOOKS = 6
const MAX_LOOKS = 240

/** Waits until a process has all but slept for a while; false where it does not come to rest. @param {number} pid */
export async function atRest(pid) {
  let quiet = 0
  let before = ticksOf(pid)
  for (let look = 0; look < MAX_LOOKS && quiet < QUIET_LOOKS; look++) {
    await delay(LOOK_MS)
    const now = ticksOf(pid)
    quiet = now - before <= 2 ? quiet + 1 : 0
    before = now
  }
  return quiet === QUIET_LOOKS
}
