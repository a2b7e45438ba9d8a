/** Why what is shown may not be what is: the service is not heard of, or the page could not be fetched. */
type Doubt = 'away' | 'behind'

const TEXTS: Record<Doubt, string> = {
  away: 'The service does not answer. Trying again…',
  behind: 'Not up to date. Trying again…',
}

const doubts = new Set<Doubt>()

/** Says in the head of the page whether it is live; of two doubts the first is told. */
export function setDoubt(doubt: Doubt, is: boolean): void {
  if (is) doubts.add(doubt)
  else doubts.delete(doubt)
  const shown = document.getElementById('live')
  if (!shown || !document.body.dataset.live) return
  const told = (['away', 'behind'] as const).find((each) => doubts.has(each))
  shown.dataset.state = told ? 'cut' : 'live'
  const text = told ? TEXTS[told] : 'Live'
  if (shown.textContent !== text) shown.textContent = text
}
