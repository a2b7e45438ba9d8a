/**
 * Shares the record with the remote. client/sync.tsx says how the two compare, and shows the form only if there is a
 * remote: that starts git several times, so the page does not wait for it.
 */
export function SyncForm() {
  return (
    <form class="sync row needs-script" id="sync" data-send="POST" action="/sync" data-keep hidden>
      <span class="small muted" id="sync-state" />
      <button type="submit" class="compact">
        Sync
      </button>
    </form>
  )
}

/** What the last sync did, or why it stopped. */
export function SyncResult() {
  return <div class="needs-script" id="sync-result" role="status" data-keep hidden />
}
