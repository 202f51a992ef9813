() => {
  const panel = [...document.querySelectorAll('.stc-Panel')].find(e => e.offsetParent !== null);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  // Colours over each other as the browser draws them, whatever their notation.
  const drawn = layers => {
    context.fillStyle = 'white';
    context.fillRect(0, 0, 1, 1);
    for (const layer of layers) {
      context.fillStyle = layer;
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = rgb => {
    const [r, g, b] = rgb
      .map(v => v / 255)
      .map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.unshift(getComputedStyle(at).backgroundColor);
    }
    return layers;
  };
  const found = new Set();
  for (const element of panel.querySelectorAll('*')) {
    const ownText = [...element.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (
      !ownText ||
      element.offsetParent === null ||
      element.closest('svg, .stc-Hidden, .stc-Plot, :disabled')
    ) {
      continue;
    }
    const layers = behind(element);
    const [low, high] = [
      luminance(drawn(layers)),
      luminance(drawn([...layers, getComputedStyle(element).color]))
    ].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) {
      found.add(
        `${contrast.toFixed(2)} ${element.tagName.toLowerCase()}.${element.className} ${element.textContent.slice(0, 30)}`
      );
    }
  }
  return [...found];
};
