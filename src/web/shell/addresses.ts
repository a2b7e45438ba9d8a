import type { Proof } from '../../model/proof.ts'

/** Where the pages are. The JSON endpoints keep `/cases`, so a page of one case is below `/case`. */
export const CASES = '/'
export const NEW_CASE = '/new'
/** Of what waits in all workspaces; the endpoint has the same address. */
export const INBOX = '/inbox'
/** Of the agents in terminals; `/conversations` is the endpoint. */
export const AGENTS = '/agents'
/** Leads to the help page of the API. */
export const API_REFERENCE = '/docs'
export const API_PAGE = 'requests'
/** The pages of the package's docs. */
export const HELP = '/help'
export const HELP_PICTURES = '/help-pictures'
/** Of who plans here; `/setup` is the endpoint. */
export const SETUP = '/configure'
/** Answers once the agents on this machine were asked. */
export const FOUND_AGENTS = '/agents/found'
/** Answers once the record was compared with the remote, as of the last fetch. */
export const COMPARED = '/sync/compared'
/** Of the full text search; `/search` is the endpoint. */
export const SEARCH = '/find'

/** `anchor` is that of a heading, as on GitHub. */
export function helpPage(name: string, anchor?: string): string {
  return `${HELP}/${name}${anchor === undefined ? '' : `#${HELP_ANCHORS}${anchor}`}`
}

/** Before the anchors of a page of the docs. */
export const HELP_ANCHORS = 'text-'

export function searchPage(q: string, limit?: number): string {
  return `${SEARCH}?q=${encodeURIComponent(q)}${limit === undefined ? '' : `&limit=${limit}`}`
}

export function casesWithTag(tag: string): string {
  return `${CASES}?tag=${encodeURIComponent(tag)}`
}

export function casePage(id: string): string {
  return `/case/${id}`
}

export function sessionPage(id: string, number: number | string): string {
  return `/case/${id}/session/${number}`
}

export function memoryPage(id: string, filename: string): string {
  return `/case/${id}/memory/${encodeURIComponent(filename)}`
}

export function proofPage(id: string, proof: string): string {
  return `/case/${id}/proof/${proof}`
}

/** The page with the diff of a session or of a proof, whose page is `page`. */
export function changesPage(page: string): string {
  return `${page}/changes`
}

/** The events that change a page which shows no output: of one case, or of all. */
export function changesOf(id?: string): string {
  return `/events?after=now&output=no${id === undefined ? '' : `&case=${id}`}`
}

/** The content of a proof as plain text, from the API. */
export function proofText(id: string, proof: string): string {
  return `/cases/${id}/proof/${proof}/content`
}

/** The picture of a proof, from the API. The hash makes a changed picture another address. */
export function proofPicture({ case_id, id, sha256 }: Proof): string {
  return `/cases/${case_id}/proof/${id}/content?v=${sha256.slice(0, 12)}`
}

/** A case as one file, from the API. */
export function caseReport(id: string, format: 'html' | 'md'): string {
  return `/cases/${id}/report?format=${format}`
}

export function sessionReport(id: string, session: string): string {
  return `/cases/${id}/report?format=md&session=${session}`
}

/** The path of a session in the API. */
export function sessionApi({ case_id, id }: { case_id: string; id: string }): string {
  return `/cases/${case_id}/sessions/${id}`
}

/** A file that a session left, from the API. */
export function artifactFile(session: { case_id: string; id: string }, artifact: string): string {
  return `${sessionApi(session)}/artifacts/${artifact}`
}

/** The page of a log; `#L12` leads to a line, which may need `?line=12` to be on the page. */
export function logPage(id: string, number: number | string, artifact: string): string {
  return `${sessionPage(id, number)}/log/${encodeURIComponent(artifact)}`
}

/** For breadcrumbs: the way from the list of cases to a case. */
export function pathTo(id?: string, title = ''): { href: string; text: string }[] {
  const cases = { href: CASES, text: 'Cases' }
  return id === undefined ? [cases] : [cases, { href: casePage(id), text: title }]
}
