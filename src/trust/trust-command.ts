import { AppError } from '../model/app-error.ts'
import { isBreaking } from '../model/problem.ts'
import type { Settings } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import type { FolderOptions } from '../settings/folders.ts'
import { openWorkspaceFolders } from '../settings/workspace-folders.ts'
import { accept, offerOf } from './offer.ts'
import { offerText } from './offer-text.ts'

export interface TrustOptions extends FolderOptions {
  /** Trust without asking. */
  yes?: boolean
}

export interface Terminal {
  print(text: string): void
  warn(line: string): void
  /** Null without a terminal. */
  ask: ((question: string) => Promise<boolean>) | null
}

/**
 * `casefile doctor --trust`: shows what would be trusted, asks, and stores the answer. Returns the exit code. Needs no
 * service; a running one applies the change at once.
 */
export async function trust(
  options: TrustOptions,
  { print, warn, ask }: Terminal,
): Promise<number> {
  const places = await openWorkspaceFolders(options, process.env, warn)
  const settings = await places.settings()
  mustBeReadable(settings)
  for (const { code, line, message } of settings.problems) {
    if (code === 'bad_settings') warn(visibleText(`ignored: line ${line}: ${message}`))
  }
  const offer = await offerOf(places, settings)
  if (!offer) {
    print(`Nothing needs trust in ${visibleText(places.root)}.\n`)
    return 0
  }
  print(
    `${visibleText(places.root)} asks you to trust the following. It has no effect until you do:\n\n${offerText(offer)}\n`,
  )
  if (offer.isTrusted) {
    print('All of this is trusted already.\n')
    return 0
  }
  if (!options.yes && !ask) throw nobodyToAsk()
  if (!options.yes && !(await ask?.('Trust all of this? [y/N] '))) {
    print('Nothing was trusted.\n')
    return 1
  }
  await accept(places, offer)
  print('Trusted, until it changes.\n')
  return 0
}

function nobodyToAsk(): AppError {
  return new AppError(
    'bad_request',
    'This is not trusted yet, and there is no terminal to ask on. To trust it without a question, run: casefile doctor --trust --yes',
  )
}

function mustBeReadable({ problems }: Settings): void {
  const broken = problems.find(isBreaking)
  if (!broken) return
  const { file, line, message } = broken
  const place = line === null ? file : `${file}, line ${line}`
  throw new AppError(
    'unreadable_file',
    `${place}: ${visibleText(message)}. Fix it, then run this again.`,
  )
}
