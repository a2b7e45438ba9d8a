import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../model/webhook.ts'

/** What the service tells of, as it stands in the data of each event. */
export interface ServiceEvent {
  event_type: string
  timestamp: string
  payload: Record<string, unknown>
}

/** An EventSource gives a named event only to who asks for that name. */
export const EVENT_NAMES: readonly string[] = [
  ...DEFAULT_EVENTS,
  ...FURTHER_EVENTS,
  'session_output',
  'resync',
]

type Listener = (event: ServiceEvent) => void
const listeners = new Set<Listener>()

/** Gives the undo. */
export function onServiceEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function publish(event: ServiceEvent): void {
  for (const listener of listeners) listener(event)
}
