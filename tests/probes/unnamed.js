// Controls that a screen reader could not name.
() => [...document.querySelectorAll('button, input, select, textarea, a[href], [role=slider]')]
  .filter(it => it.checkVisibility())
  .filter(it => !(it.getAttribute('aria-label') || it.getAttribute('aria-labelledby') || it.textContent.trim()
    || it.labels?.length || it.title))
  .map(it => it.outerHTML)
