import { refreshSoon } from '../client/refresh.ts'
import { startSeenPlans } from '../client/seen-plans.tsx'
import { openStream } from '../client/shared-events.ts'

/** The inbox also changes with other workspaces, whose events the shared stream does not have. */
export function start(): void {
  if (document.body.dataset.page !== 'inbox') return
  const ignore = () => {} // the shared stream says whether the service answers
  const stream = openStream(['inbox'], () => '/inbox/stream', {
    open: ignore,
    cut: ignore,
    ping: ignore,
    event: refreshSoon,
  })
  addEventListener('pagehide', () => stream.close())
  startSeenPlans()
}
