import type { components, paths } from 'casefile-api'
import createClient from 'openapi-fetch'

/**
 * What somebody would write against the types that openapi-typescript makes of `/openapi.json`: compiled and
 * run by test/http/api-tools.ts. Gives what it saw.
 */
export async function useTheApi(baseUrl: string): Promise<Record<string, unknown>> {
  const api = createClient<paths>({ baseUrl })
  const { data: made } = await api.POST('/cases', { body: { title: 'Typed', tags: ['api'] } })
  if (!made) throw new Error('no case was made')
  const path = { id: made.id }

  const { data: changed } = await api.PUT('/cases/{id}/state', {
    params: { path },
    body: { state: 'BLOCKED', reason: 'To be seen.' },
  })
  const state: components['schemas']['CaseState'] | undefined = changed?.state

  const { data: found, response } = await api.GET('/cases', {
    params: { query: { state: ['OPEN', 'BLOCKED'], tag: ['api'], limit: 10 } },
  })
  const titles: string[] = (found ?? []).map(({ title }) => title)

  const { error } = await api.PUT('/cases/{id}/state', {
    params: { path },
    body: { state: 'RESOLVED', outcome: 'Solved' },
  })
  const missing: string[] | undefined = error?.missing

  await api.PUT('/cases/{id}/memory/{filename}', {
    params: { path: { ...path, filename: 'notes.md' } },
    body: '# Notes\n',
    bodySerializer: (text) => text,
    headers: { 'content-type': 'text/markdown' },
  })
  const { data: notes } = await api.GET('/cases/{id}/memory/{filename}', {
    params: { path: { ...path, filename: 'notes.md' } },
    parseAs: 'text',
  })
  const { data: gone } = await api.DELETE('/cases/{id}', { params: { path } })
  const deleted: true | undefined = gone?.deleted

  return {
    state,
    titles,
    code: error?.code,
    missing: missing?.length,
    notes,
    deleted,
    total: response.headers.get('x-total-count'),
  }
}

/** A union that `event_type` tells apart. */
export function newStateOf(event: components['schemas']['LogEvent']): string | null {
  return event.event_type === 'case_state_changed' ? event.payload.new_state : null
}

/** Never called: each of these must not compile. */
export async function wrong(baseUrl: string): Promise<void> {
  const api = createClient<paths>({ baseUrl })
  // @ts-expect-error a case needs a title
  await api.POST('/cases', { body: { type: 'bug' } })
  // @ts-expect-error there is no such path
  await api.GET('/nothing')
  // @ts-expect-error there is no such state
  await api.PUT('/cases/{id}/state', { params: { path: { id: '' } }, body: { state: 'DONE' } })
  const { data } = await api.GET('/cases/{id}', { params: { path: { id: '' } } })
  // @ts-expect-error an outcome may be null
  data?.outcome.length
}
