import { AppError } from '../model/app-error.ts'
import { isBreaking } from '../model/problem.ts'
import type { Settings } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import type { PlaceOptions } from '../workspace/settings/folders.ts'
import { openPlaces } from '../workspace/settings/places.ts'
import { accept, offerOf } from './offer.ts'
import { offerText } from './offer-text.ts'

export interface TrustOptions extends PlaceOptions {
  /** Trust without asking. */
  yes?: boolean
}

export interface Terminal {
  print(text: string): void
  warn(line: string): void
  /** Null where there is nobody to ask. */
  ask: ((question: string) => Promise<boolean>) | null
}

/**
 * `casefile trust`: shows what would be trusted, asks, and keeps it; resolves to the exit code. It
 * needs no service; one that runs takes it up at once.
 */
export async function trust(
  options: TrustOptions,
  { print, warn, ask }: Terminal,
): Promise<number> {
  const places = await openPlaces(options, process.env, warn)
  const settings = await places.settings()
  mustBeReadable(settings)
  for (const { code, line, message } of settings.problems) {
    if (code === 'bad_settings') warn(visibleText(`does not count: line ${line}: ${message}`))
  }
  const offer = await offerOf(places, settings)
  if (!offer) {
    print(`There is nothing to trust in ${visibleText(places.root)}.\n`)
    return 0
  }
  print(
    `What counts in ${visibleText(places.root)} only once you trust it:\n\n${offerText(offer)}\n`,
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
    'Nothing was trusted, because there is no terminal to ask on. Run casefile trust --yes',
  )
}

function mustBeReadable({ problems }: Settings): void {
  const broken = problems.find(isBreaking)
  if (!broken) return
  const { file, line, message } = broken
  const place = line === null ? file : `${file}, line ${line}`
  throw new AppError(
    'unreadable_file',
    `${place}: ${visibleText(message)}. Fix it, then look at what it asks for.`,
  )
}
