/** Where a request comes from; `api` if it does not say. */
export const CLIENTS = ['console', 'terminal', 'mcp', 'import', 'api'] as const
export type Client = (typeof CLIENTS)[number]

export function isClient(text: string): text is Client {
  return (CLIENTS as readonly string[]).includes(text)
}

/**
 * Where a change comes from. `agent`: a person answered in the dialog of an agent that they run themselves. `standing`: a
 * standing intent.
 */
export const CHANNELS = [...CLIENTS, 'agent', 'standing'] as const
export type Channel = (typeof CHANNELS)[number]
