/** How mounts can be made here: by which programs, and by whose power. */

import { findServiceProgram } from '../../files/service-program.ts'

export interface Tools {
  unshare: string
  mount: string
  setsid: string
  setpriv: string | null
}

/** A program that the system may have. */
export function findTool(name: string): string | null {
  return findServiceProgram(name, `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin`)
}

export function findTools(): Tools | { missing: string } {
  const [unshare, mount, setsid] = ['unshare', 'mount', 'setsid'].map(findTool)
  if (!unshare) return { missing: 'unshare' }
  if (!mount) return { missing: 'mount' }
  if (!setsid) return { missing: 'setsid' }
  return { unshare, mount, setsid, setpriv: findTool('setpriv') }
}

/**
 * What root keeps: as in a container, and no devices. With the other capabilities it could undo the mounts or bypass them,
 * set the clock, or change the network.
 */
const POWERS = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'setfcap',
  'net_bind_service',
  'net_raw',
  'sys_chroot',
  'audit_write',
]
const BOUNDS = ['-all', ...POWERS.map((power) => `+${power}`)].join(',')

/**
 * Only matters for a real root user. `isolation`: programs cannot reach the folders through other processes, which may see
 * them as writable; but they can no longer change file owners. `powers`: they keep that capability.
 */
export type Preference = 'isolation' | 'powers'

export interface Way {
  /** Words before the helper. */
  outer: string[]
  /** Words by which the helper drops the capabilities to undo the mounts, once; empty if each program does. */
  drop: string[]
  /** Words before each program that drop them. */
  inner: string[]
  ownProcesses: boolean
}

/**
 * The methods to try. An ordinary user can mount as root of a user namespace; a second namespace inside it restores the
 * user's id and removes the power over the mounts. It is made for each program, as the helper does not see itself among the
 * processes inside. A real root user can also mount directly. A process namespace may not be possible where mounts are.
 */
export function waysOf({ unshare, setpriv }: Tools, prefer: Preference = 'isolation'): Way[] {
  const mounts = ['--mount', '--propagation', 'private']
  const user = process.geteuid?.() ?? 0
  const group = process.getegid?.() ?? 0
  const asUser = {
    outer: [unshare, '--user', '--map-root-user', ...mounts],
    drop: [],
    inner: [unshare, '--user', `--map-user=${user}`, `--map-group=${group}`],
  }
  const asRoot = {
    outer: [unshare, ...mounts],
    drop: [setpriv ?? '', '--bounding-set', BOUNDS, '--inh-caps', '-all'],
    inner: [],
  }
  const both = prefer === 'isolation' ? [asUser, asRoot] : [asRoot, asUser]
  return (user === 0 && setpriv ? both : [asUser]).flatMap((way) => [
    { ...way, outer: [...way.outer, '--pid'], ownProcesses: true },
    { ...way, ownProcesses: false },
  ])
}
