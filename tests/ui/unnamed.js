// What a screen reader could make nothing of: [what is wrong, where], over the panel that can be seen.
() => {
  const panel = [...document.querySelectorAll('.stc-Panel')].find(e => e.offsetParent !== null);
  const found = [];
  const where = element =>
    `${element.tagName.toLowerCase()}.${element.getAttribute('class')} ${(element.textContent || '').slice(0, 40)}`;
  const texts = ids => ids.split(/\s+/).map(id => document.getElementById(id)?.textContent ?? '');
  const spoken = element =>
    [...element.childNodes]
      .map(node =>
        node.nodeType === Node.TEXT_NODE
          ? node.textContent
          : node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true'
            ? ''
            : nameOf(node)
      )
      .join('');
  const nameOf = element =>
    element.getAttribute('aria-label') ??
    (element.hasAttribute('aria-labelledby')
      ? texts(element.getAttribute('aria-labelledby')).join(' ')
      : spoken(element));
  const named =
    'button, a, input, select, [role=button], [role=tab], [role=img], [role=region], [role=tabpanel], [role=dialog], ' +
    '[role=grid], [role=treegrid], [role=separator], [role=tablist], [role=slider], article, [role=group]';
  for (const element of panel.querySelectorAll(named)) {
    if (element.checkVisibility() && nameOf(element).trim() === '') {
      found.push(`has no name: ${where(element)}`);
    }
  }
  for (const element of panel.querySelectorAll('[tabindex]')) {
    if (element.tabIndex > 0) {
      found.push(`comes before its turn: ${where(element)}`);
    }
  }
  for (const attribute of ['aria-labelledby', 'aria-controls', 'aria-describedby', 'aria-activedescendant']) {
    for (const element of panel.querySelectorAll(`[${attribute}]`)) {
      const folded = attribute === 'aria-controls' && element.getAttribute('aria-expanded') === 'false';
      for (const id of element.getAttribute(attribute).split(/\s+/)) {
        if (!folded && id && document.getElementById(id) === null) {
          found.push(`${attribute} leads nowhere: ${where(element)}`);
        }
      }
    }
  }
  const ids = [...panel.querySelectorAll('[id]')].map(element => element.id);
  for (const id of ids.filter((one, at) => ids.indexOf(one) !== at)) {
    found.push(`two have the id ${id}`);
  }
  // What can be clicked can be reached by key: itself, or what it belongs to or stands beside.
  const keys =
    'button, a, input, select, summary, [role=row], [role=button], [role=option], [role=separator], [role=tooltip], .stc-Figure';
  for (const element of panel.querySelectorAll('*')) {
    const pointed = one => getComputedStyle(one).cursor === 'pointer';
    const clickable = pointed(element) && !pointed(element.parentElement) && element.checkVisibility();
    const beside = element.parentElement.querySelector(':scope > button, :scope > * > button');
    if (clickable && !element.closest(keys) && !beside && !element.closest('.stc-Plot')) {
      found.push(`cannot be reached by key: ${where(element)}`);
    }
  }
  const levels = [...panel.querySelectorAll('h1, h2, h3, h4, h5, h6')]
    .filter(heading => heading.checkVisibility())
    .map(heading => Number(heading.tagName[1]));
  levels.forEach((level, at) => {
    if (at > 0 && level > levels[at - 1] + 1) {
      found.push(`heading ${level} after heading ${levels[at - 1]}`);
    }
  });
  return [...new Set(found)];
};
