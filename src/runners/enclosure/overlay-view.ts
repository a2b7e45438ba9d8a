import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { openFilePath } from '../../platform/proc.ts'
import type { SandboxOverlay } from '../process/sandbox-plan.ts'
import type { Sandbox } from './sandbox.ts'

export interface OverlayView {
  /** Has what the programs changed. */
  upper: string
  /** The folder as the programs see it. */
  view: string
  close(): Promise<void>
}

/** Opens the overlay of a sandbox, for paths that still lead to it when the sandbox has ended. */
export async function openOverlayView(
  { overlay, root }: Sandbox & { kind: 'mount' },
  { at, layer }: SandboxOverlay,
): Promise<OverlayView> {
  const inside = root()
  if (inside === null) throw new Error('the sandbox has ended')
  const folders = overlay === 'memory' ? [at, layer] : [at]
  const flags = constants.O_RDONLY | constants.O_DIRECTORY
  const opened = await Promise.all(folders.map((path) => open(`${inside}${path}`, flags)))
  const [view = '', inMemory = layer] = opened.map(({ fd }) => openFilePath(fd)!)
  return {
    upper: join(inMemory, 'upper'),
    view,
    async close() {
      for (const each of opened) await each.close()
    },
  }
}
