import { statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** As statfs(2) names them. */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x01021994, 'tmpfs, which is no disk'],
  [0x9123683e, 'btrfs'],
  [0x58465342, 'xfs'],
  [0x794c7630, 'overlayfs'],
])

/** One sentence: where and when this is measured. @param {string} folder */
export function machineNow(folder) {
  const type = statfsSync(folder).type
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const load = loadavg()[0] ?? 0
  const cores = availableParallelism()
  const busy = load > cores / 4 ? ', so it was busy with other work meanwhile' : ''
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus()[0]?.model.trim()},`,
    `${cores} cores, ${memory}, Linux ${release()}, Node ${process.version},`,
    `${FILE_SYSTEMS.get(type) ?? `file system ${type.toString(16)}`}.`,
    `Its load just before was ${load.toFixed(1)}${busy}.`,
  ].join(' ')
}
