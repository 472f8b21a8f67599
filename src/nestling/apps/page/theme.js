"use strict";
// before anything is drawn, so that no other theme flashes up
(() => {
  const chosen = localStorage.getItem("nestling.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
