import type { Patch } from '../../rendering/diff/patch.ts'
import {
  type DiffLayout,
  type ShownDiff,
  showDiff,
  showFile,
} from '../../rendering/diff/shown-diff.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import type { PageAssets } from '../assets.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'

/** Pure. What `?diff=` asks for. */
export function diffLayout(name: string | undefined): DiffLayout {
  return name === 'split' ? 'split' : 'unified'
}

export interface Changes {
  patch: Patch
  outside: ReadonlySet<string>
  above: { href: string; text: string }[]
}

interface ChangesQuery {
  layout: DiffLayout
  /** The id of the only file to show, with all of its lines; null for all files. */
  file: string | null
}

/** Null if there is no such file. */
export async function showAsked(
  { patch, outside }: Changes,
  { layout, file }: ChangesQuery,
): Promise<ShownDiff | null> {
  if (file === null) return showDiff(patch, { layout, outside })
  const shown = await showFile(patch, file)
  if (!shown) return null
  const tree = {
    name: '',
    folders: [],
    files: [],
  }
  return {
    files: [shown],
    outside: [],
    tree,
    notes: [],
    layout,
  }
}

interface ChangesPageProps {
  assets: PageAssets
  changes: Changes
  diff: ShownDiff
  address: string
}

/** All changed files over the whole width of the window, or one of them, which the script of another page loads. */
export function ChangesPage({ assets, changes, diff, address }: ChangesPageProps) {
  const { above } = changes
  const [only] = diff.files
  const title = diff.files.length === 1 && only ? only.file.file : 'Changed files'
  return (
    <Page title={title} assets={assets} kind="changes">
      <div class="record-head">
        <Breadcrumbs above={above} current="Changed files" />
        <h1 tabindex={-1}>Changed files</h1>
      </div>
      <section class="card" id="changes" aria-label="Changed files">
        <DiffView diff={diff} address={address} changes={address} />
      </section>
    </Page>
  )
}
