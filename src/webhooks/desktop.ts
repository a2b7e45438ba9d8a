/** Shows notifications on the desktop of this machine, by the program that its system has for it. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasCode } from '../files/errno.ts'
import { servicePath, serviceProgram } from '../files/service-program.ts'
import type { Attempt } from '../model/delivery.ts'
import { type Notification, withPlace } from './notification.ts'

const TIMEOUT_MS = 10_000
const run = promisify(execFile)

interface Shower {
  program: string
  args(shown: Notification): string[]
}

/** Texts are arguments, and none of them is read as a program or an option. */
const BY_PLATFORM: Readonly<Partial<Record<NodeJS.Platform, Shower>>> = {
  linux: {
    program: 'notify-send',
    args: (shown) => [
      '--app-name=Casefile',
      '--',
      shown.title,
      `${escapeMarkup(withPlace(shown))}\n${shown.link}`,
    ],
  },
  darwin: {
    program: 'osascript',
    args: (shown) => [
      '-e',
      'on run argv',
      '-e',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      '-e',
      'end run',
      '--',
      shown.title,
      `${withPlace(shown)} ${shown.link}`,
    ],
  },
}

/** What is missing to show notifications here; null if nothing is. */
export function desktopTrouble(environment: NodeJS.ProcessEnv): string | null {
  const shower = BY_PLATFORM[process.platform]
  if (!shower) return `Casefile cannot show notifications on ${process.platform}`
  try {
    serviceProgram(shower.program, environment.PATH ?? '')
    return null
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    return `${shower.program} is not installed`
  }
}

/** An attempt as of a webhook: 200 stands for success. */
export async function showOnDesktop(
  shown: Notification,
  environment: NodeJS.ProcessEnv,
): Promise<Attempt> {
  const began = Date.now()
  const attempt = (status: number | null, error: string | null): Attempt => ({
    at: new Date(began).toISOString(),
    ms: Date.now() - began,
    status,
    error,
    retry_after_ms: null,
  })
  const trouble = desktopTrouble(environment)
  if (trouble !== null) return attempt(null, trouble)
  const { program, args } = BY_PLATFORM[process.platform]!
  try {
    const env = { ...environment, PATH: servicePath(environment.PATH) }
    await run(serviceProgram(program, environment.PATH), args(shown), { env, timeout: TIMEOUT_MS })
    return attempt(200, null)
  } catch (error) {
    const { code } = error as { code?: unknown }
    return attempt(null, `${program} failed (${String(code ?? 'no reason')})`)
  }
}

/** notify-send reads a few HTML tags in the text below the title. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
