import type { Routes } from '../deps.ts'
import { AGENTS } from '../shell/addresses.ts'
import { loadAgents } from './data.ts'
import { AgentsPage } from './page.tsx'

/** The agents that people run in terminals themselves. */
export const agentsRoutes: Routes = ({ service, assets }, get) => {
  get(AGENTS, async () => <AgentsPage assets={assets} {...(await loadAgents(service))} />)
}
