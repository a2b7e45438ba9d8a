import { rootPath } from '../../platform/proc.ts'
import { launch } from './launch.ts'
import type { Sandbox } from './sandbox.ts'

/** Opens a folder as the programs of a sandbox see it: by a process that waits below its mounts. */
export async function openOverlayView(
  sandbox: Sandbox & { kind: 'mount' },
  at: string,
  signal: AbortSignal,
): Promise<{ path: string; close(): Promise<void> }> {
  const waiting = await launch({
    argv: ['/bin/sh', '-c', ':'],
    cwd: '/',
    env: {},
    sandbox,
    stdin: 'none',
    signal,
  })
  if ('startError' in waiting) throw new Error(waiting.startError)
  return {
    path: `${rootPath(waiting.pid)}${at}`,
    async close() {
      waiting.begin()
      await sandbox.end()
    },
  }
}
