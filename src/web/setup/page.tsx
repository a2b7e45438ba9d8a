import type { SetupStatus } from '../../init/setup.ts'
import type { PageAssets } from '../assets.ts'
import { pathTo } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'
import { SetupPanel } from './setup-panel.tsx'

/** The page that changes who plans, and what proves the work, in a workspace that has cases. */
export function SetupPage({ assets, found }: { assets: PageAssets; found: SetupStatus | null }) {
  return (
    <Page title="Set up" assets={assets} kind="setup">
      <Breadcrumbs above={pathTo()} current="Set up" />
      <h1>Set up</h1>
      <p class="lead">Who plans the work in this folder, and what proves that it is right.</p>
      <SetupPanel found={found} isFirst={false} />
    </Page>
  )
}
