() => {
  const panel = [...document.querySelectorAll('.stc-Panel')].find(e => e.offsetParent !== null);
  const found = [];
  const mayScroll = '.stc-Listing-code, pre, .stc-Tabs';
  for (const element of panel.querySelectorAll('*')) {
    if (element.closest('svg, .stc-Hidden, .stc-Plot') || element.offsetParent === null) {
      continue;
    }
    const style = getComputedStyle(element);
    const name = `${element.tagName.toLowerCase()}.${element.className} ${(element.textContent || '').slice(0, 40)}`;
    const wider = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    if (wider && /auto|scroll/.test(style.overflowX) && !element.closest(mayScroll)) {
      found.push(`scrolls sideways: ${name} ${element.scrollWidth} > ${element.clientWidth}`);
    }
    const ownText = [...element.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (wider && ownText && style.overflowX === 'hidden' && style.textOverflow !== 'ellipsis') {
      found.push(`cut off: ${name}`);
    }
    if (
      wider &&
      ownText &&
      style.textOverflow === 'ellipsis' &&
      !element.closest('[title], [tabindex="0"]')
    ) {
      found.push(`cut short with no way to read it: ${name}`);
    }
    if (ownText && !element.closest(mayScroll)) {
      const range = document.createRange();
      range.selectNodeContents(element);
      const right = Math.max(...[...range.getClientRects()].map(r => r.right));
      const edge = panel.getBoundingClientRect().right;
      if (right > edge + 1 && !element.closest('[title]')) {
        found.push(`beyond the panel's edge: ${name}`);
      }
    }
  }
  return found;
};
