import { isBreaking } from '../model/problem.ts'
import type { WorkspaceFolders } from '../settings/workspace-folders.ts'
import { accept, offerOf } from './offer.ts'
import { offerText } from './offer-text.ts'

/** `serve --trust`: trusts everything that needs trust, and logs what that is. */
export async function trustAtStart(
  places: WorkspaceFolders,
  log: (line: string) => void,
): Promise<void> {
  const settings = await places.settings()
  const broken = settings.problems.find(isBreaking)
  if (broken) log(`--trust: ${broken.file} cannot be read, so nothing in it is trusted`)
  const offer = await offerOf(places, settings)
  if (!offer) return broken ? undefined : log('--trust: nothing needs trust')
  if (!offer.isTrusted) await accept(places, offer)
  log(`--trust: trusted until changed\n${offerText(offer)}`)
}
