/** Tabs as the ARIA practices describe them: arrows move between them, one is in the order of Tab. */

export function Tabs({ label, tabs, selected, onSelect }) {
  const index = Math.max(0, tabs.findIndex(({ id }) => id === selected));
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(index + step + tabs.length) % tabs.length].id;
    onSelect(next);
    document.getElementById(`tab-${next}`).focus();
  };
  const { id, body: Body } = tabs[index];
  return (
    <section class="card tabbed">
      <div role="tablist" aria-label={label} onKeyDown={keys}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            role="tab"
            id={`tab-${tab.id}`}
            aria-selected={tab.id === id}
            aria-controls={tab.id === id ? `panel-${id}` : undefined}
            tabIndex={tab.id === id ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`} tabIndex={0}>
        <Body />
      </div>
    </section>
  );
}
