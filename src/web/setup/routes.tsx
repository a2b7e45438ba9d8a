import type { Routes } from '../deps.ts'
import { FOUND_AGENTS, SETUP } from '../shell/addresses.ts'
import { SetupPage } from './page.tsx'

/** The page of the setup, and what its script waits for. */
export const setupRoutes: Routes = ({ assets, service: { setup } }, get) => {
  get(SETUP, async () => {
    const agents = setup.lastAgents()
    const found = agents && (await setup.status(agents))
    return <SetupPage assets={assets} found={found} />
  })

  // pages that are loaded after the answer show what was found
  get(FOUND_AGENTS, async (c) => {
    await setup.findAgents({ again: c.req.query('again') !== undefined })
    return c.body(null, 204)
  })
}
