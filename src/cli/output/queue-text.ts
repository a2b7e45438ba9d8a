import type { QueuePlaceJson } from '../../http/schemas/queue.ts'
import { visibleText } from '../../model/visible-text.ts'

/** What a session in line waits for. */
export function waitsForText({ waits_for }: QueuePlaceJson): string {
  if (waits_for === null) return 'about to start'
  return `after session ${waits_for.number} of “${visibleText(waits_for.title)}”`
}
